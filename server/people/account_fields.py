"""What the fields of forms about people are called on their pages, for refusals that name them."""

from server.inputs import N_

ACCOUNT_FIELDS = {
    "again": N_("The same password again"),
    "code": N_("Code"),
    "current": N_("Current password"),
    "days": N_("Days for which it is valid"),
    "invitation": N_("Invitation"),
    "key": N_("File of the key"),
    "login": N_("Sign-in name"),
    "name": N_("Name"),
    "password": N_("Password"),
    "person": N_("Person"),
    "role": N_("Role"),
    "secret": N_("Secret of the app"),
    "sign_in": N_("Sign-in"),
    "token": N_("Token"),
}
"""By the name that a refusal gives, as `server.inputs.Problem.field`."""
