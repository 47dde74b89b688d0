/** The functions of the portal in a world, opened as the functions open them. */
import { AwsError } from '../../../local/aws/aws-error.ts';
import type { ApiHandler } from '../../../service/api/framed.ts';
import type { Platform } from '../../../service/platform/platform.ts';
import { cancelHandlers } from '../../../service/portal/generate/cancel.ts';
import { generateHandlers } from '../../../service/portal/generate/generate.ts';
import { openPortalCancel, openPortalGenerate } from '../../../service/portal/generate/open.ts';
import { servePortal } from '../../../service/portal/http/serve-portal.ts';
import { manageHandlers } from '../../../service/portal/manage/handlers.ts';
import { openPortalManage } from '../../../service/portal/manage/open.ts';
import { serveRead } from '../../../service/portal/read/handlers.ts';
import { openPortalRead } from '../../../service/portal/read/open.ts';
import { enter } from '../../../service/portal/sign-in/enter.ts';
import { openSignIn } from '../../../service/portal/sign-in/open.ts';
import type { Claims } from '../../../service/portal/sign-in/openid.ts';

/** The functions of the portal that the simulation runs. Their invocations have these names. */
export type PortalFunctionName = 'portal-read' | 'portal-manage' | 'portal-generate' | 'portal-cancel';

/** What only the portal's distribution knows. */
export const originSecret = 'an-origin-secret-nobody-may-log';
const newOriginSecret = `${originSecret}-either`;
export const originSecretArn = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:origin';

/** Secrets Manager with the secret. @param isReplaced the deployment that sends the new value is still to come */
export function originSecretAt(stage: unknown, isReplaced: boolean): { readonly SecretString: string } {
  if (stage !== 'AWSPREVIOUS') return { SecretString: isReplaced ? newOriginSecret : originSecret };
  if (isReplaced) return { SecretString: originSecret };
  throw new AwsError('ResourceNotFoundException', 'the secret has no version with this label');
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
    contact: null,
    credentials_url: null,
    inbox_url: null,
  }),
  PORTAL_URL: 'https://portal.test/',
  SIGN_IN_SECRET_ARN: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:sign-in',
} as const;

export interface Portal {
  readonly handlers: Readonly<Record<PortalFunctionName, ApiHandler>>;
  /** What a sign-in does once the issuer has said who the person is. Resolves with the person, or with a refusal. */
  readonly enter: (claims: Claims) => Promise<string>;
}

/** @param stoppable the same platform with the vendors that can stop a job */
export function createPortal(on: Platform, stoppable: Platform): Portal {
  const openPerson = openSignIn(on);
  return {
    handlers: {
      'portal-read': serveRead(openPortalRead(on)),
      'portal-manage': servePortal('manage', manageHandlers, openPortalManage(on)),
      'portal-generate': servePortal('generate', generateHandlers, openPortalGenerate(on)),
      'portal-cancel': servePortal('cancel', cancelHandlers, openPortalCancel(stoppable)),
    },
    enter: async (claims) => {
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
