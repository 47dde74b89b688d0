import { Hono } from 'hono';
import { verifyWebhook } from 'darkroom-client/webhooks';

const secret = process.env.DARKROOM_WEBHOOK_SECRET;
const app = new Hono();
app.post('/hooks', async (context) => {
  const event = await verifyWebhook(context.req.raw, secret).catch((error) => console.warn(error.message));
  if (!event) return context.body(null, 401);
  console.log(event.event ?? event.notice, event.id);
  return context.body(null, 204);
});
export default app;
