import { lambdaHandler } from '../service/aws/lambda-handler.ts';
import { base } from '../service/platform/lambda-base.ts';
import { openPages } from '../service/release/open-pages.ts';
import { publishPages } from '../service/release/publish-pages.ts';

export const handler = lambdaHandler(() => openPages(base()), publishPages);
