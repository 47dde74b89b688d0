/** Where a service is, in the words of its stack's outputs. */
import type { OutboundRules } from '../adapters/safe-fetch.ts';

export interface ServiceAddress {
  readonly tableName: string;
  readonly stateMachineArn: string;
  readonly encryptionSecretArn: string;
  readonly providerSecretArn: string;
  /** Instead of the vendors' own addresses, by provider. */
  readonly providerBaseUrls: Readonly<Record<string, string>>;
  readonly outboundRules: OutboundRules;
  /** The output DefaultLimits, as it stands there: JSON. */
  readonly defaultLimits: string;
  /** Of the one-machine stand-in; absent: AWS, with the operator's own credentials and region. */
  readonly endpoint?: string;
}

/** A deployed service's address; `output` gives the stack's output of a name, or throws. */
export function addressOf(output: (name: string) => string): Omit<ServiceAddress, 'endpoint'> {
  return {
    tableName: output('TableName'),
    stateMachineArn: output('StateMachineArn'),
    encryptionSecretArn: output('EncryptionSecretArn'),
    defaultLimits: output('DefaultLimits'),
    providerSecretArn: output('ProviderSecretArn'),
    providerBaseUrls: {},
    outboundRules: 'public',
  };
}
