import os, time
from darkroom_client import AuthenticatedClient
from darkroom_client.api.creations import get_creation
from darkroom_client.api.images import generate_image
from darkroom_client.models import AspectRatio, ImageRequest, OpenCreation

client = AuthenticatedClient(base_url=os.environ["DARKROOM_API"], token=os.environ["DARKROOM_KEY"])
request = ImageRequest(model="sandbox-sketch", prompt="a lake", aspect_ratio=AspectRatio("3:2"), seed=7)
creation = generate_image.sync(client=client, body=request)
seen = type(creation).__name__
while isinstance(creation, OpenCreation):
    assert creation.completed_at is None
    time.sleep(2)
    creation = get_creation.sync(creation.id, client=client)
print(f"{seen}, then {type(creation).__name__} of {creation.results[0].width} pixels")
