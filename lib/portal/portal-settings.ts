import * as z from 'zod';
import { domain, usEastCertificate } from '../setting-values.ts';

const versionId = 'must be the version that `portal rotate-origin-secret` printed';
const trueOrFalse = z.boolean({ error: 'must be true or false' });

function httpsAddress(right: string): z.ZodString {
  return z
    .string({ error: right })
    .refine((text) => URL.parse(text)?.protocol === 'https:', { error: right });
}

const signIn = z.strictObject(
  {
    /** The issuer as its discovery document names it. */
    issuer: httpsAddress('must be the https address of an OpenID Connect issuer'),
    clientId: z.string({ error: 'must be the id of the portal at the issuer' }).min(1),
    /** True for an issuer that leaves email_verified out and verifies every address, such as Microsoft Entra. */
    emailsAreVerified: trueOrFalse.default(false),
    /** False for an issuer that never sends auth_time, such as Google. */
    hasAuthTime: trueOrFalse.default(true),
  },
  { error: 'must be {issuer, clientId}' },
);

/** The settings of the portal. */
export const portalSettings = z
  .strictObject(
    {
      /** The host name of the portal. CloudFront takes certificates of us-east-1 only. */
      domain: domain(usEastCertificate),
      /** Another issuer than the user pool that the stack makes. */
      signIn: signIn.optional(),
      /**
       * Whether Cognito refuses to delete the user pool. A protected pool could not be rolled back, so it is
       * switched on by the second deployment.
       */
      protectUserPool: trueOrFalse.optional(),
      /**
       * The version of the origin secret that the distribution sends. `portal rotate-origin-secret` prints it. Absent:
       * the newest version at the time of the first deployment.
       */
      originSecretVersion: z
        .string({ error: versionId })
        .regex(/^[0-9A-Za-z-]{32,64}$/, { error: versionId })
        .optional(),
      /** Where the wallet page sends a client to pay. Absent: the page shows the contact. */
      paymentUrl: httpsAddress('must be an https address').optional(),
      /** Whom a client asks, in the operator's words. */
      contact: z.string({ error: 'must be a text of 1 to 200 characters' }).min(1).max(200).optional(),
    },
    { error: 'must be an object of settings of the portal' },
  )
  .prefault({});
