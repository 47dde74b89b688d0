/** The names and addresses of a service's resources, from the outputs of its stack. */
import { defaultServiceCapacity } from '../service/contract/limits.ts';
import type { OutboundRules } from '../service/outbound/client-url.ts';
import { OperatorError } from './operator-error.ts';

export interface ServiceAddress {
  readonly tableName: string;
  readonly stateMachineArn: string;
  readonly callbackMachineArn: string;
  readonly noticeMachineArn: string;
  readonly encryptionSecretArn: string;
  readonly providerSecretArn: string;
  /** The names of the functions that have versions. Throws when the stack is older than the versions. */
  readonly versionedFunctions: () => readonly string[];
  /** The address of the portal, which invited people need. Empty: the stack is older than the portal. */
  readonly portalUrl: string;
  /** The pool in which invited people get a user. Empty: people sign in elsewhere. */
  readonly userPoolId: string;
  /** The secret with the portal's password at the issuer. Throws when the stack is older than the portal. */
  readonly signInSecretArn: () => string;
  /** The secret that the portal's distribution sends. Throws when the stack is older than this output. */
  readonly originSecretArn: () => string;
  /** The version of this secret that the deployed template names, or "AWSCURRENT". */
  readonly originSecretVersion: () => string;
  /** The secret with the key of the canary. Throws when the stack has no canary. */
  readonly canarySecretArn: () => string;
  /** Other addresses than the vendors' own ones, by provider. */
  readonly providerBaseUrls: Readonly<Record<string, string>>;
  readonly outboundRules: OutboundRules;
  /** The text of the output DefaultLimits, which is JSON. */
  readonly defaultLimits: string;
  /** The setting serviceCapacity. */
  readonly serviceCapacity: number;
  /** The address of the stand-in. Absent: AWS itself, with the operator's credentials and region. */
  readonly endpoint?: string;
}

/** The address of a deployed service. `output` gives an output of the stack by its name, or throws. */
export function addressOf(output: (name: string) => string): Omit<ServiceAddress, 'endpoint'> {
  return {
    tableName: output('TableName'),
    stateMachineArn: output('StateMachineArn'),
    callbackMachineArn: output('CallbackMachineArn'),
    noticeMachineArn: output('NoticeMachineArn'),
    encryptionSecretArn: output('EncryptionSecretArn'),
    defaultLimits: output('DefaultLimits'),
    providerSecretArn: output('ProviderSecretArn'),
    // A stack from before the setting has the default.
    serviceCapacity: Number(outputOrNothing(output, 'ServiceCapacity') || defaultServiceCapacity),
    versionedFunctions: () => output('VersionedFunctions').split(','),
    portalUrl: outputOrNothing(output, 'PortalUrl'),
    userPoolId: outputOrNothing(output, 'UserPoolId'),
    signInSecretArn: () => output('SignInSecretArn'),
    originSecretArn: () => output('OriginSecretArn'),
    originSecretVersion: () => output('OriginSecretVersion'),
    canarySecretArn: () => {
      const arn = outputOrNothing(output, 'CanarySecretArn');
      if (arn === '')
        throw new OperatorError('The stack has no canary: set `canary` in its settings, and deploy again.');
      return arn;
    },
    providerBaseUrls: {},
    outboundRules: 'public',
  };
}

/** An output that not every stack has. */
function outputOrNothing(output: (name: string) => string, name: string): string {
  try {
    return output(name);
  } catch (error) {
    if (error instanceof OperatorError) return '';
    throw error;
  }
}
