"""What tests are written with."""
