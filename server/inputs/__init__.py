"""Untrusted bytes, JSON and forms become frozen values here, or an `InputError`.

Nothing behind this package sees unchecked input. A message is an English template with
named values, marked for translation with `N_` and translated at the edge, so that this
package (and with it the intake of responses) needs no web framework.
"""

from server.inputs.code_forms import CODE_ALPHABET, CODE_LENGTH, normalise_code
from server.inputs.decoding import parse_json
from server.inputs.definition_forms import (
    MARGIN,
    form_fields,
    margin_text,
    number_or_text,
    parse_form,
    points_text,
)
from server.inputs.problems import N_, InputError, Problem, refuse, shorten_value
from server.inputs.schema import schema_limit
from server.inputs.typed_numbers import parse_whole_number
