"""What the judge cannot know from the document: the rules of the service that JSON Schema has no words for.

A request that the document allows and the service refuses is a failure, unless every reason that the service gives is
one of those below. Each is a place in the request and what is said about it there, so that no other refusal of that
place, and no such refusal of another place, is let through.
"""

import os
import re
import uuid

import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData

ANYWHERE = r""

RULES_BEYOND_SCHEMA = [
    (re.compile(place), re.compile(message))
    for place, message in (
        # JSON as all readers agree on it, and texts as Postgres stores them: there, or somewhere below.
        (ANYWHERE, r"^(holds something that )?must not contain NUL characters$"),
        (ANYWHERE, r"^(holds something that )?must be well-formed Unicode$"),
        (ANYWHERE, r"^(holds something that )?must not have NUL characters or lone surrogates in its name$"),
        (ANYWHERE, r"^(holds something that )?must not be used as a member name$"),
        (ANYWHERE, r"^(holds something that )?must be a number that JSON readers agree on"),
        # What only the service can have given out, or holds.
        (r"^start$", r"^must be a cursor from pagination\.next of this list$"),
        (r"^application\.id$", r"^must (be the id of an application|name a public or private application)$"),
        (ANYWHERE, r"^names a token that does not exist$"),
        # What a text spells.
        (r"^(expires_at|start_date|end_date)$", r"^must be (ISO 8601 |in the future$|at most 24 hours from now$)"),
        (r"^(privacy|container|containers\[\d+\]|rules\[\d+\]\.container)$", r"^must be a path such as /pci/high/"),
        (r"^id$", r"^must (have 3 to 400 characters|not contain |not begin or end with white space)"),
        (r"^metadata$", r"^must be a JSON object of texts$"),
        (r"^callback_url$", r"^must "),
        (r"^query$", r"^must (have|be|not|close|combine|name|give) "),
        # What the token's type asks of its data, and of expressions over them.
        (r"(^|\.)data\b", r"^(is required$|must (be |not be null$|have no members but ))"),
        (r"^mask\b", r"^must (give|not) "),
        (r"^(metadata|configuration)\b", r"^must have (keys of|at most) "),
        (ANYWHERE, r"^must not (hold more than \d+ values to tokenize|name more than \d+ tokens)$"),
        (r"^(fingerprint_expression|search_indexes\[\d+\])$", r"^must (give|not name) "),
        # What members ask of each other.
        (r"^(permissions|rules)\b", r"^must not be empty( where (rules|permissions) is empty too)?$"),
        (r"^(permissions|rules)\b", r"^must (not name a permission twice|be one that a \w+ application may hold)$"),
        (r"^(permissions|rules\[\d+\]\.permissions)$", r"^must not have more than 50 entries$"),
        (r"^rules\[\d+\]$", r"^must have either container or conditions$"),
        (r"^rules\[\d+\]\.priority$", r"^must be unique in the application$"),
        (r"^settings\.deduplicate_tokens$", r"^must be false where fingerprint_tokens is"),
        (r"^settings\.", r"^is not a setting of a tenant$"),
        (r"^rules$", r"^must be empty for a management application$"),
        # Requests that are well formed and cannot be carried out (422): code, and the number of keys.
        (r"^code$", r"^The code "),
        (r"^$", r"^An application has at most 3 keys; delete one first\.$"),
        (r"^$", r"^Only the key of an application that has exactly one key can be regenerated\.$"),
        (r"^$", r"^A resource declares the key of this application: rotate it there\.$"),
    )
]


def reasons_of(problem):
    """Pairs of a place and what is said about it; of a problem without places, its detail about the whole."""
    errors = problem.get("errors")
    if not errors:
        return [("", problem.get("detail", ""))]
    return [(place, message) for place, messages in errors.items() for message in messages]


@schemathesis.hook
def filter_case(context, case):
    """Leaves alone the application that the requests are sent as: without it, every further answer would be a 401."""
    if case.method == "GET":
        return True
    return os.environ["JUDGED_APPLICATION"] not in (case.path_parameters or {}).values()


USABLE_KEY = re.compile(r"[ -~]{1,255}")
used_keys = set()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Uses no idempotency key twice: what is sent with a used one, sound or not, is answered as it was the first time."""
    for name in case.headers or {}:
        if not name.upper().endswith("-IDEMPOTENCY-KEY") or not USABLE_KEY.fullmatch(str(case.headers[name])):
            continue
        if case.headers[name] in used_keys:
            case.headers[name] = str(uuid.uuid4())
        used_keys.add(case.headers[name])


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops the refusal of a request that breaks nothing but rules which the document cannot say."""
    if not isinstance(failure, RejectedPositiveData) or response.status_code not in (400, 422):
        return True
    return not all(
        any(place.search(where) and message.search(said) for place, message in RULES_BEYOND_SCHEMA)
        for where, said in reasons_of(response.json())
    )
