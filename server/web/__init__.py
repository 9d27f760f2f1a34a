"""The site: what listens, what answers, and the pages of researchers and respondents."""
