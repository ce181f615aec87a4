# Of the key custodian, who runs `tokenkeep keys status|rotate|rewrap|import`. It changes master keys, and never sees
# a data key of what is stored: it has no `decrypt`. Written for the mount `transit` and the key `tokenkeep`: put in
# your own names.

# `keys status`; `keys import` also makes the keys in an engine that has none. (`required_parameters` would close it to
# reads; a key that is not derived is refused by the program.)
path "transit/keys/tokenkeep" {
  capabilities       = ["read", "create", "update"]
  allowed_parameters = {
    "type"                   = ["aes256-gcm96"]
    "derived"                = [true]
    "exportable"             = [false]
    "allow_plaintext_backup" = [false]
  }
}
path "transit/keys/tokenkeep-cvc" {
  capabilities       = ["read", "create", "update"]
  allowed_parameters = {
    "type"                   = ["aes256-gcm96"]
    "derived"                = [true]
    "exportable"             = [false]
    "allow_plaintext_backup" = [false]
  }
}
path "transit/keys/tokenkeep-audit" {
  capabilities       = ["read", "create", "update"]
  allowed_parameters = {
    "type"                   = ["hmac"]
    "key_size"               = []
    "exportable"             = [false]
    "allow_plaintext_backup" = [false]
  }
}

# `keys rotate`.
path "transit/keys/tokenkeep/rotate" {
  capabilities = ["update"]
}
path "transit/keys/tokenkeep-cvc/rotate" {
  capabilities = ["update"]
}

# `keys rewrap`: under the current version, without the data key leaving Vault. Those of codes are never rewrapped.
path "transit/rewrap/tokenkeep" {
  capabilities = ["update"]
}

# `keys rewrap --retire`: destroys versions. Nothing but these two: a key can also be made exportable or deletable here.
path "transit/keys/tokenkeep/config" {
  capabilities       = ["update"]
  allowed_parameters = {
    "min_decryption_version" = []
    "min_encryption_version" = []
  }
}
path "transit/keys/tokenkeep/trim" {
  capabilities = ["update"]
}
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

# `keys import`: data keys that a keyring had wrapped until then. Take both away when that is done. It also unwraps each
# before its row is written: for that its token has the policy tokenkeep-api too.
path "transit/encrypt/tokenkeep" {
  capabilities = ["update"]
}
path "transit/encrypt/tokenkeep-cvc" {
  capabilities = ["update"]
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
