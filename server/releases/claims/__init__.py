"""Every claim of privacy on trial: of the library, and of what pages and commands release.

`table` holds all cases and judges them; `registered` walks what can be run and says what has no case.
"""
