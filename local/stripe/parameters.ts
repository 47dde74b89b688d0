/** Form-encoded parameters, as Stripe's API takes them: `line_items[0][quantity]=1&expand[]=customer`. */
import * as z from 'zod';
import { invalid, type StripeRefusal } from './refusals.ts';

type Given = { [name: string]: Given | string };

/** Lists come as objects with the members 0, 1, …; `[]` takes the next number. */
function decodeForm(text: string): Given {
  const whole: Given = Object.create(null) as Given;
  for (const [name, value] of new URLSearchParams(text)) {
    const steps = [
      name.replace(/\[.*$/, ''),
      ...[...name.matchAll(/\[([^[\]]*)\]/g)].map(([, step = '']) => step),
    ];
    let at = whole;
    steps.forEach((step, index) => {
      const own = step === '' ? String(Object.keys(at).length) : step;
      if (index === steps.length - 1) at[own] = value;
      else {
        const next = at[own];
        at = typeof next === 'object' ? next : (at[own] = Object.create(null) as Given);
      }
    });
  }
  return whole;
}

function withLists(value: Given | string): unknown {
  if (typeof value === 'string') return value;
  const steps = Object.keys(value);
  if (steps.length > 0 && steps.every((step) => /^\d+$/.test(step)))
    return Object.values(value).map((one) => withLists(one));
  return Object.fromEntries(Object.entries(value).map(([step, one]) => [step, withLists(one)]));
}

const refused = (message: string, code?: string) => ({ error: message, params: { code } });

export const text = z
  .string()
  .refine((value) => value !== '', refused('You passed an empty string', 'parameter_invalid_empty'));

export const integer = z
  .string()
  .refine((value) => /^-?\d{1,15}$/.test(value), refused('Invalid integer', 'parameter_invalid_integer'))
  .transform(Number);

export const flag = z
  .enum(['true', 'false'], { error: 'Invalid boolean' })
  .transform((value) => value === 'true');

/** At most 50 keys of 40 characters, with values of 500. */
export const metadata = z
  .record(z.string().max(40), z.string().max(500))
  .refine((value) => Object.keys(value).length <= 50, { error: 'Metadata can have up to 50 keys' });

/** A moment, or a range of moments, in Unix seconds. */
export const moments = z.union([
  integer.transform((value) => ({ gte: value, lte: value })),
  z.strictObject({
    gt: integer.optional(),
    gte: integer.optional(),
    lt: integer.optional(),
    lte: integer.optional(),
  }),
]);

export const page = {
  limit: integer
    .refine((value) => value >= 1 && value <= 100, refused('Invalid limit: must be 1 to 100'))
    .optional(),
  starting_after: text.optional(),
  ending_before: text.optional(),
};

/** The parameters by a schema. Throws what Stripe answers to the first wrong one. */
export function readParameters<Schema extends z.ZodType>(schema: Schema, form: string): z.output<Schema> {
  const given = withLists(decodeForm(form));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw issue ? refusalOf(issue, given) : invalid('Invalid parameters');
}

function refusalOf(issue: z.core.$ZodIssue, given: unknown): StripeRefusal {
  if (issue.code === 'unrecognized_keys') {
    const param = nameOf([...issue.path, issue.keys[0] ?? '']);
    return invalid(`Received unknown parameter: ${param}`, { code: 'parameter_unknown', param });
  }
  const param = nameOf(issue.path);
  if (isAbsent(given, issue.path))
    return invalid(`Missing required param: ${param}.`, { code: 'parameter_missing', param });
  const code = issue.code === 'custom' ? (issue.params?.['code'] as string | undefined) : undefined;
  return invalid(`${issue.message}: ${param}`, { param, ...(code !== undefined && { code }) });
}

function isAbsent(given: unknown, path: readonly PropertyKey[]): boolean {
  return (
    path.reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown> | undefined)?.[step], given) ===
    undefined
  );
}

function nameOf([first = '', ...others]: readonly PropertyKey[]): string {
  return [String(first), ...others.map((step) => `[${String(step)}]`)].join('');
}
