import express from 'express';
import { verifyWebhook } from 'darkroom-client/webhooks';

const secret = process.env.DARKROOM_WEBHOOK_SECRET;
const app = express();
app.post('/hooks', express.raw({ type: 'application/json' }), async (request, response) => {
  const event = await verifyWebhook(request, secret).catch((error) => console.warn(error.message));
  if (!event) return response.sendStatus(401);
  console.log(event.event ?? event.notice, event.id);
  return response.sendStatus(204);
});
export const server = app.listen(process.env.PORT ?? 3000);
