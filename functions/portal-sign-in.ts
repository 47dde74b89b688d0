import { base } from '../service/platform/lambda-base.ts';
import { dynamodb, originSecrets, secrets, topics } from '../service/platform/lambda.ts';
import { atFirstRequest } from '../service/platform/common.ts';
import { serveSignIn } from '../service/portal/sign-in/handlers.ts';
import { openSignIn } from '../service/portal/sign-in/open.ts';

export const handler = serveSignIn(
  atFirstRequest(() =>
    openSignIn({
      ...base(),
      dynamodb: dynamodb(),
      originSecrets: originSecrets(),
      secrets: secrets(),
      topics: topics(),
    }),
  ),
);
