import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { openProtection } from '../service/release/open.ts';
import { protectTable } from '../service/release/protect-table.ts';

export const handler = lambdaHandler(() => openProtection(base()), protectTable);
