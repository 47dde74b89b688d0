import os, time
import openapi_client
from openapi_client import *  # loads every model

configuration = openapi_client.Configuration(
    host=os.environ["DARKROOM_API"], access_token=os.environ["DARKROOM_KEY"]
)
with openapi_client.ApiClient(configuration) as client:
    request = ImageRequest(model="sandbox-sketch", prompt="a lake", aspect_ratio=AspectRatio("3:2"), seed=7)
    creation = ImagesApi(client).generate_image(request).actual_instance
    seen = type(creation).__name__
    while isinstance(creation, OpenCreation):
        assert creation.completed_at is None
        time.sleep(2)
        creation = CreationsApi(client).get_creation(creation.id).actual_instance
    print(f"{seen}, then {type(creation).__name__} of {creation.results[0].width} pixels")
