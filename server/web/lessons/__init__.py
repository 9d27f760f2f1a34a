"""What a class tries out: small experiments with the very designs, estimators and noise that surveys run on."""
