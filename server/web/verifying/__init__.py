"""Whether a running site serves the pages of this release, as respondents see them.

What is expected is drawn from this checkout (`shells`), what is served is fetched as several browsers would
(`visitors`); one answer is held against it (`answer_checks`), and a whole site is (`site_comparison`). Nothing here
trusts what a site says of itself.
"""

CANNOT_SEE = (
    "What this cannot see: what the site answers to others, at another time or to another address; what a browser "
    "does, or has kept from an earlier visit; and what the server does with what arrives."
)
