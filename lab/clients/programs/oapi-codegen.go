package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	ctx := context.Background()
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("DARKROOM_KEY"))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("DARKROOM_API"), WithRequestEditorFn(key))
	check(err)
	prompt, ratio, seed := "a lake", N32, 7
	body := ImageRequest{Model: "sandbox-sketch", Prompt: &prompt, AspectRatio: &ratio, Seed: &seed}
	answer, err := client.GenerateImageWithResponse(ctx, nil, body)
	check(err)
	creation := answer.JSON202
	for {
		value, err := creation.ValueByDiscriminator()
		check(err)
		switch one := value.(type) {
		case OpenCreation:
			time.Sleep(2 * time.Second)
			polled, err := client.GetCreationWithResponse(ctx, one.Id)
			check(err)
			creation = polled.JSON200
		case CompletedCreation:
			fmt.Printf("%s of %d pixels at %s\n", one.Status, one.Results[0].Width, one.CompletedAt)
			return
		case FailedCreation:
			panic(string(one.Error))
		}
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
