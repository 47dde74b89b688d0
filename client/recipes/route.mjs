import { verifyWebhook } from 'darkroom-client/webhooks';

const secret = process.env.DARKROOM_WEBHOOK_SECRET;
export async function POST(request) {
  const event = await verifyWebhook(request, secret).catch((error) => console.warn(error.message));
  if (!event) return new Response(null, { status: 401 });
  console.log(event.event ?? event.notice, event.id);
  return new Response(null, { status: 204 });
}
