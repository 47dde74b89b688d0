"""Renders one image and saves it. Needs Python 3.9 or newer and no package.

DARKROOM_API=http://127.0.0.1:8787/api/public/v1 DARKROOM_KEY=dk_live_… \
    python3 examples/generate.py "a quiet lake at dawn" lake.png
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

API = os.environ.get("DARKROOM_API", "http://127.0.0.1:8787/api/public/v1")
KEY = os.environ.get("DARKROOM_KEY", "")
TRIES = 5
LONGEST_WAIT_SECONDS = 10 * 60


class Refused(Exception):
    """The API refused the request, and the same request would be refused again."""


def call(path, body=None, headers=None):
    """Sends a request. Repeats it after a broken connection or a temporary refusal."""
    request = urllib.request.Request(
        API + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **(headers or {})},
    )
    for attempt in range(1, TRIES + 1):
        seconds = 2**attempt
        try:
            with urllib.request.urlopen(request, timeout=35) as response:
                return json.load(response), response.headers
        except urllib.error.HTTPError as refusal:
            # 429, 500 and 503 say that the same request may succeed later.
            if attempt == TRIES or refusal.code not in (429, 500, 503):
                error = json.load(refusal).get("error", {})
                raise Refused(f"{refusal.code} {error.get('code')}: {error.get('message')}") from refusal
            # Every 429 and 503 of the service says how long to wait.
            seconds = int(refusal.headers.get("Retry-After", seconds))
        except OSError:
            if attempt == TRIES:
                raise
        time.sleep(seconds)


def submit(prompt):
    """Submits the prompt. The key makes every repetition of this request return the same creation."""
    body = {"model": "sandbox-standard", "prompt": prompt}
    creation, _ = call("/images/generate", body, {"Idempotency-Key": str(uuid.uuid4())})
    return creation


def wait(creation_id):
    """Polls until the creation has ended, at the pace that the service asks for."""
    until = time.monotonic() + LONGEST_WAIT_SECONDS
    while time.monotonic() < until:
        creation, headers = call(f"/creations/{creation_id}")
        if creation["status"] == "completed":
            return creation
        if creation["status"] == "failed":
            raise Refused(f"{creation['error']} The charge was refunded.")
        time.sleep(int(headers.get("Retry-After", 2)))
    raise Refused(f"The creation {creation_id} did not end in time.")


def download(url, file):
    """The address of an image needs no key."""
    with urllib.request.urlopen(url, timeout=60) as response, open(file, "wb") as image:
        image.write(response.read())


def main(prompt="a quiet lake at dawn", file="image.png"):
    creation = submit(prompt)
    print(f"accepted   {creation['id']}, {creation['cost']} USD")
    download(wait(creation["id"])["result_urls"][0], file)
    print(f"completed  {file}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except (Refused, OSError) as error:
        sys.exit(str(error))
