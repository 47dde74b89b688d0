/** The outputs of a deployed service. In a stack of others their names begin with "Darkroom" (lib/service-scope.ts). */
import type { Output } from '@aws-sdk/client-cloudformation';

const prefix = 'Darkroom';

/** The outputs by their own names. Those of the other app are left out. */
export function serviceOutputs(outputs: readonly Output[]): ReadonlyMap<string, string> {
  const all = outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue] as const);
  const ours = all.filter(([name]) => name.startsWith(prefix));
  if (!ours.some(([name]) => name === `${prefix}TableName`)) return new Map(all);
  return new Map(ours.map(([name, value]) => [name.slice(prefix.length), value]));
}
