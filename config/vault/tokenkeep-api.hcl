# Of the processes that serve the vault. They make and open data keys; they cannot take a master key out of Vault,
# delete one, or change that of tokens. Written for the mount `transit` and the key `tokenkeep`: put in your own names.

# At the start: whether the keys are there and derived, and which versions they have.
path "transit/keys/tokenkeep" {
  capabilities = ["read"]
}
path "transit/keys/tokenkeep-cvc" {
  capabilities = ["read"]
}
path "transit/keys/tokenkeep-audit" {
  capabilities = ["read"]
}

# New data keys. `update` alone: with `create`, a missing key would be made as the request has it.
path "transit/datakey/plaintext/tokenkeep" {
  capabilities = ["update"]
}
path "transit/datakey/plaintext/tokenkeep-cvc" {
  capabilities = ["update"]
}

# Data keys that are stored, unwrapped for use in memory.
path "transit/decrypt/tokenkeep" {
  capabilities = ["update"]
}
path "transit/decrypt/tokenkeep-cvc" {
  capabilities = ["update"]
}

# Seals the heads of the audit chains. Verifying is the auditor's.
path "transit/hmac/tokenkeep-audit" {
  capabilities = ["update"]
}

# Card verification codes are gone for good once the version that wrapped their data keys is: while codes are kept, the
# process makes a version for each span of time, and destroys those whose span is over.
path "transit/keys/tokenkeep-cvc/rotate" {
  capabilities = ["update"]
}
# Nothing but these two: a key can also be made exportable or deletable here.
path "transit/keys/tokenkeep-cvc/config" {
  capabilities       = ["update"]
  allowed_parameters = {
    "min_decryption_version" = []
    "min_encryption_version" = []
  }
}
path "transit/keys/tokenkeep-cvc/trim" {
  capabilities = ["update"]
}

# The own token: how long it lives, more life for it, and its end when the process stops.
path "auth/token/lookup-self" {
  capabilities = ["read"]
}
path "auth/token/renew-self" {
  capabilities = ["update"]
}
path "auth/token/revoke-self" {
  capabilities = ["update"]
}
