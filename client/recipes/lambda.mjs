import { verifyWebhook } from 'darkroom-client/webhooks';

const secret = process.env.DARKROOM_WEBHOOK_SECRET;
export async function handler(request) {
  const event = await verifyWebhook(request, secret).catch((error) => console.warn(error.message));
  if (!event) return { statusCode: 401 };
  console.log(event.event ?? event.notice, event.id);
  return { statusCode: 204 };
}
