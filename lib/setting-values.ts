/** The kinds of values that several settings have. */
import * as z from 'zod';

const hostName = z
  .string({ error: 'must be a host name, such as api.example.com' })
  .regex(/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, {
    error: 'must be a host name in lower case, such as api.example.com',
  });

/** The certificates that a host name may have, and what to say of another one. */
interface Certificates {
  readonly arn: RegExp;
  readonly right: string;
}

export const regionalCertificate: Certificates = {
  arn: /^arn:aws[\w-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
  right: "must be the ARN of an ACM certificate in the stack's region",
};

/** CloudFront takes certificates of us-east-1 only. */
export const usEastCertificate: Certificates = {
  arn: /^arn:aws[\w-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
  right: 'must be the ARN of an ACM certificate in us-east-1, whatever the region of the stack',
};

/** A host name of the operator, with its certificate. */
export function domain({
  arn,
  right,
}: Certificates): z.ZodOptional<
  z.ZodObject<{ name: z.ZodString; certificateArn: z.ZodString }, z.core.$strict>
> {
  return z
    .strictObject(
      { name: hostName, certificateArn: z.string({ error: right }).regex(arn) },
      { error: 'must be {name, certificateArn}' },
    )
    .optional();
}

function webAcl(arn: RegExp, where: string): z.ZodOptional<z.ZodString> {
  const error = `must be the ARN of a web ACL of AWS WAF, ${where}`;
  return z.string({ error }).regex(arn, { error }).optional();
}

/** The firewalls of the operator. CloudFront takes a global web ACL, and API Gateway one of its region. */
export const webAclArns = z
  .strictObject(
    {
      portal: webAcl(
        /^arn:aws[\w-]*:wafv2:us-east-1:\d{12}:global\/webacl\/[^/]+\/[\w-]+$/,
        'global, of us-east-1',
      ),
      api: webAcl(
        /^arn:aws[\w-]*:wafv2:[a-z0-9-]+:\d{12}:regional\/webacl\/[^/]+\/[\w-]+$/,
        "of the stack's region",
      ),
    },
    { error: 'must be {portal, api}' },
  )
  .default({});

export function wholeNumber(least: number, most: number): z.ZodNumber {
  const right = `must be a whole number from ${least} to ${most}`;
  return z.int({ error: right }).min(least).max(most);
}

export function oneOf<const Values extends readonly string[]>(
  values: Values,
): z.ZodEnum<{ [Value in Values[number]]: Value }> {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

/**
 * A number of executions that Lambda reserves, or "shared". A new account of AWS may run few functions at once, and
 * Lambda then allows no reservation.
 */
export function reservation(least = 1): z.ZodUnion<[z.ZodInt, z.ZodLiteral<'shared'>]> {
  const error = `must be a whole number from ${least} to 10000, or "shared"`;
  return z.union(
    [z.int({ error }).min(least, { error }).max(10_000, { error }), z.literal('shared', { error })],
    { error },
  );
}

export const region = z
  .string({ error: 'must be a region, such as us-west-2' })
  .regex(/^[a-z]{2}(-[a-z]+)+-\d$/);
