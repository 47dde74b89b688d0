/** What the document says before its operations. */
import { apiRoot } from '../contract/operations.ts';

export const title = 'Darkroom';

export const summary = 'Render images asynchronously, and pay for each once.';

export const description = `
Send a request, get a creation, and learn its outcome by polling or by a signed webhook.

- **Keys.** Every path needs an API key. It belongs on a server, never in a browser or an app.
- **Errors.** Every refusal of the service has the form \`{"error": {"code", "message", "details"}}\`. Branch on \`code\` and \`details.reason\`.
- **Waiting.** Every 429 and 503 of the service but \`no_provider_enabled\` carries \`Retry-After\`. With \`X-Should-Retry: false\`, waiting does not help.
- **Unknown paths.** A path that this document does not have is answered 404 \`ERR_NOT_FOUND\`. So is a method that a path does not take; then \`Allow\` names the methods. The service never answers 405. Both need a key.
- **Unknown query parameters and fields** of a request are refused with 400, so that a typo is never ignored.
- **Changes.** Answers may get more fields, and operations more refusals. Ignore the fields that you do not know. Nothing is removed within v1.
`.trim();

export const tags = [
  { name: 'Images', description: 'Order an image, or ask for its price.' },
  { name: 'Creations', description: 'What became of your orders.' },
  { name: 'Uploads', description: 'Source images that have no address of their own.' },
  { name: 'Results', description: 'A bucket of your own that gets a copy of each picture.' },
  { name: 'Webhook endpoints', description: 'Addresses that get every event that they ask for.' },
  { name: 'User tokens', description: 'Tokens for the browsers and apps of your users.' },
  { name: 'Account', description: 'Models, money and limits.' },
  { name: 'Deliveries', description: 'What the service sends to you.' },
] as const;

export type TagName = (typeof tags)[number]['name'];

export const servers = [
  {
    url: `{origin}${apiRoot}`,
    description: 'The service of your operator. `npm start` serves the default.',
    variables: {
      origin: {
        default: 'http://127.0.0.1:8787',
        description: 'The output ApiUrl of the stack, without its path.',
      },
    },
  },
];
