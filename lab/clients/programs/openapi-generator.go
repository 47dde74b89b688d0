package main

import (
	"context"
	"fmt"
	"os"
	"time"

	darkroom "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	configuration := darkroom.NewConfiguration()
	configuration.Servers = darkroom.ServerConfigurations{{URL: os.Getenv("DARKROOM_API")}}
	client := darkroom.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), darkroom.ContextAccessToken, os.Getenv("DARKROOM_KEY"))
	request := darkroom.NewImageRequest("sandbox-sketch")
	request.SetPrompt("a lake")
	request.SetAspectRatio("3:2")
	request.SetSeed(7)
	creation, _, err := client.ImagesAPI.GenerateImage(ctx).ImageRequest(*request).Execute()
	for err == nil && creation.OpenCreation != nil {
		time.Sleep(2 * time.Second)
		creation, _, err = client.CreationsAPI.GetCreation(ctx, creation.OpenCreation.Id).Execute()
	}
	if err != nil {
		panic(err)
	}
	done := creation.CompletedCreation
	fmt.Printf("%s of %d pixels at %s\n", done.Status, done.Results[0].Width, done.CompletedAt)
}
