import { environment } from '../services/environment.ts';
export const handler = async (event: unknown): Promise<unknown> =>
  Promise.resolve({ statusCode: 200, body: JSON.stringify({ url: environment('PORTAL_URL'), event }) });
