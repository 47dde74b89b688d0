import { base, lambdaHandler } from '../service/platform/lambda-base.ts';
import { openPages } from '../service/release/open.ts';
import { publishPages } from '../service/release/publish-pages.ts';

export const handler = lambdaHandler(() => openPages(base()), publishPages);
