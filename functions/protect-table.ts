import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { openProtection } from '../service/release/open.ts';
import { protectTable } from '../service/release/protect-table.ts';
import { isForResultKeys, makeResultKeys } from '../service/release/result-keys.ts';

export const handler = lambdaHandler(
  () => openProtection(base()),
  (event: unknown, services) => (isForResultKeys(event) ? makeResultKeys : protectTable)(event, services),
);
