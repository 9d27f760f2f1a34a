"""Every claim of privacy on trial: of the library, and of what pages and commands release.

`whole_audit` holds all cases and judges them; `registered_functions` walks what can be run and says what has no case.
"""
