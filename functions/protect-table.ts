import { lambdaHandler } from '../service/aws/lambda-handler.ts';
import { base } from '../service/platform/lambda-base.ts';
import { openProtection } from '../service/release/open-protection.ts';
import { protectTable } from '../service/release/protect-table.ts';

export const handler = lambdaHandler(() => openProtection(base()), protectTable);
