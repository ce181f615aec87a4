# Of the auditor, who runs `tokenkeep audit verify`: tells a sealed head of an audit chain from a forged one, and can
# neither seal one nor reach a data key. Written for the mount `transit` and the key `tokenkeep`: put in your own names.

path "transit/verify/tokenkeep-audit" {
  capabilities = ["update"]
}
# Tells a forged code from a key that is gone.
path "transit/keys/tokenkeep-audit" {
  capabilities = ["read"]
}

# The own token: how long it lives, more life for it, and its end with the command.
path "auth/token/lookup-self" {
  capabilities = ["read"]
}
path "auth/token/renew-self" {
  capabilities = ["update"]
}
path "auth/token/revoke-self" {
  capabilities = ["update"]
}
