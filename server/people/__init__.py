"""Researchers, how they sign in, and how colleagues come.

Functions take a Session and never commit.
"""

from server.people.colleague_invitations import (
    INVITATION_LIFETIME,
    accept,
    find_invitation,
    invitations_to,
    invite,
    withdraw_invitation,
)
from server.people.members import change_role, hand_over, members_of, remove_member
from server.people.passwords import check_password, hash_password, verify
from server.people.researchers import (
    add,
    administers,
    allow,
    check_administrator,
    check_login,
    check_name,
    disable,
    enable,
    first_researcher,
    get_name,
    get_researcher,
    list_researchers,
    lock_administrators,
    normalised_login,
    with_login,
)
from server.people.second_factors import (
    RECOVERY_CODES,
    is_right_code,
    new_recovery_codes,
    new_totp_secret,
    recovery_codes_left,
    totp_address,
    turn_off_codes,
    turn_on_codes,
)
from server.people.sign_ins import (
    LINK_LIFETIME,
    SIGN_IN_LIFETIME,
    end_others,
    end_sign_in,
    link_owner,
    mark_seen,
    new_sign_in_link,
    redeem_sign_in_link,
    sign_in,
    sign_in_of,
    sign_ins_of,
    sign_out,
)
