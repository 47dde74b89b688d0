/** The functions of the portal in a world, opened as the functions open them. */
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { withCatalog } from '../../../service/api/admit.ts';
import type { BeforeCatalog } from '../../../service/catalog/sold-catalog.ts';
import { heldRequestMillis } from '../../../service/contract/limits.ts';
import { portalOperations } from '../../../service/contract/operations.ts';
import type { OpenaiImageServices } from '../../../service/openai/open.ts';
import { openaiImages } from '../../../service/openai/openai-images.ts';
import { inOpenaiForm } from '../../../service/openai/serve-openai.ts';
import type { Platform } from '../../../service/platform/platform.ts';
import { cancelHandlers } from '../../../service/portal/generate/cancel.ts';
import { generateHandlers } from '../../../service/portal/generate/generate.ts';
import { openPortalCancel, openPortalGenerate } from '../../../service/portal/generate/open.ts';
import { servePortal } from '../../../service/portal/http/serve-portal.ts';
import { manageHandlers } from '../../../service/portal/manage/handlers.ts';
import { openPortalManage } from '../../../service/portal/manage/open.ts';
import { serveRead } from '../../../service/portal/read/handlers.ts';
import { payHandlers } from '../../../service/portal/pay/handlers.ts';
import { openPortalPay } from '../../../service/portal/pay/open.ts';
import { openPortalRead } from '../../../service/portal/read/open.ts';
import { enter } from '../../../service/portal/sign-in/enter.ts';
import { serveSignIn } from '../../../service/portal/sign-in/handlers.ts';
import { openSignIn } from '../../../service/portal/sign-in/open.ts';
import type { Claims } from '../../../service/portal/sign-in/openid.ts';
import type { Invocation, World } from '../world/simulated-world.ts';

/** The functions of the portal that the simulation runs. Their invocations have these names. */
export type PortalFunctionName =
  | 'portal-read'
  | 'portal-manage'
  | 'portal-generate'
  | 'portal-cancel'
  | 'portal-pay'
  | 'portal-sign-in';

/** What only the portal's distribution knows. */
export const originSecret = 'an-origin-secret-nobody-may-log';
const newOriginSecret = `${originSecret}-either`;
export const originSecretArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:origin';

/** The newest value first. @param isReplaced the deployment that sends the new value is still to come */
export function originSecrets(isReplaced: boolean): readonly string[] {
  return isReplaced ? [newOriginSecret, originSecret] : [originSecret];
}

/** What only the functions of the portal read. */
export const portalEnvironment = {
  API_URL: 'https://api.test/api/public/v1',
  MCP_URL: 'https://api.test/mcp',
  OPENAI_ALIASES: '{}',
  OPENAI_URL: 'https://api.test/openai/v1',
  PORTAL_CLIENT_ID: 'portal',
  PORTAL_ISSUER: 'https://issuer.test',
  PORTAL_SETTINGS: JSON.stringify({
    emails_are_verified: true,
    has_auth_time: true,
    payment_url: null,
    takes_payments: true,
    contact: null,
    credentials_url: null,
    inbox_url: null,
  }),
  PORTAL_URL: 'https://portal.test/',
  SIGN_IN_SECRET_ARN: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:sign-in',
} as const;

/** @param stoppable the same platform with the vendors that can stop a job */
export function createPortal(on: Platform, stoppable: Platform) {
  const openPerson = openSignIn(on);
  return {
    handlers: {
      'portal-read': serveRead(openPortalRead(on)),
      'portal-manage': servePortal('manage', manageHandlers, openPortalManage(on)),
      'portal-generate': servePortal('generate', generateHandlers, openPortalGenerate(on)),
      'portal-cancel': servePortal('cancel', cancelHandlers, openPortalCancel(stoppable)),
      'portal-pay': servePortal('pay', payHandlers, openPortalPay(on), portalOperations),
      'portal-sign-in': serveSignIn(openPerson),
    },
    /** What a sign-in does once the issuer has said who the person is. Resolves with the person, or with a refusal. */
    enter: async (claims: Claims): Promise<string> => {
      const services = openPerson();
      try {
        const entered = await enter(claims, undefined, on.clock.now(), services);
        return typeof entered === 'string' ? entered : entered.personId;
      } finally {
        services.budget.end();
      }
    },
  };
}

/** The function of the OpenAI-shaped endpoint, behind a REST API that passes the answer on in parts. */
export interface OpenaiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OpenaiObserver {
  /** Called when the function begins with a request. */
  readonly onOpenaiSent: (invocation: Invocation, event: APIGatewayProxyEvent) => void;
  /** Called when the function or the gateway answered. */
  readonly onOpenaiServed: (invocation: Invocation, answer: OpenaiAnswer) => void;
}

/** The time limit of the function, as lib/ sets it. */
const limitMillis = 300_000;

/** How the gateway answers for a function that died: as DEFAULT_5XX of the REST API. */
const diedAnswer: OpenaiAnswer = {
  status: 503,
  headers: { 'retry-after': '5', 'x-should-retry': 'true' },
  body: '{"error":{"code":"overloaded"}}',
};

/** Sends a request. Rejects when the answer does not reach the client. */
export function createOpenai(
  world: World,
  observer: Partial<OpenaiObserver>,
  open: () => BeforeCatalog<OpenaiImageServices>,
): (event: APIGatewayProxyEvent) => Promise<OpenaiAnswer> {
  const handle = inOpenaiForm(withCatalog(openaiImages), open, heldRequestMillis);

  async function wholeAnswer(event: APIGatewayProxyEvent, id: string): Promise<OpenaiAnswer> {
    const context = { ...event.requestContext, requestId: id, requestTimeEpoch: world.time.now() };
    const named = { ...event, requestContext: context };
    const { status, headers, body } = await handle(named, { awsRequestId: id } as Context);
    if (typeof body === 'string') return { status, headers, body };
    const parts: string[] = [];
    for await (const part of body) parts.push(typeof part === 'string' ? part : Buffer.from(part).toString());
    return { status, headers, body: parts.join('') };
  }

  return async (event) => {
    let invocation: Invocation | undefined;
    const result = await world.invoke('openai', limitMillis, (id) => {
      invocation = world.current();
      if (invocation) observer.onOpenaiSent?.(invocation, event);
      return wholeAnswer(event, id);
    });
    const answer = result.ok ? (result.payload as OpenaiAnswer) : diedAnswer;
    if (invocation) observer.onOpenaiServed?.(invocation, answer);
    return world.call({ service: 'gateway', operation: 'openai', target: '' }, () => answer);
  };
}
