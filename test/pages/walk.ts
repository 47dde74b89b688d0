/** The pages of the portal, as the tests and the pictures visit them. */
import { creationIds } from './stub/samples.ts';

export interface Visit {
  readonly name: string;
  /** Relative to the base. */
  readonly path: string;
  readonly heading: string;
}

export const visits: readonly Visit[] = [
  { name: 'home', path: '', heading: 'Home' },
  { name: 'playground', path: 'playground', heading: 'Playground' },
  { name: 'creations', path: 'creations', heading: 'Creations' },
  { name: 'creation', path: `creations/${creationIds[1] ?? ''}`, heading: 'Creation' },
  { name: 'keys', path: 'keys', heading: 'Keys' },
  { name: 'key', path: 'keys/key_production', heading: 'Web shop, production' },
  { name: 'requests', path: 'requests', heading: 'Requests' },
  { name: 'webhooks', path: 'webhooks', heading: 'Webhooks' },
  { name: 'deliveries', path: 'deliveries', heading: 'Deliveries' },
  { name: 'delivery', path: 'deliveries/delivery_5', heading: 'Delivery' },
  { name: 'wallet', path: 'wallet', heading: 'Wallet' },
  { name: 'statement', path: 'statement', heading: 'Statement' },
  { name: 'usage', path: 'usage?by=model', heading: 'Usage' },
  { name: 'people', path: 'people', heading: 'People' },
  { name: 'audit', path: 'audit', heading: 'Audit' },
  { name: 'account', path: 'account', heading: 'Account' },
  { name: 'operator-service', path: 'operator', heading: 'Service' },
  { name: 'operator-creation', path: `operator/creations/${creationIds[1] ?? ''}`, heading: 'Creation' },
  { name: 'operator-accounts', path: 'operator/accounts', heading: 'Accounts' },
  { name: 'operator-account', path: 'operator/accounts/acc_7Yt2mQ9xZk', heading: 'Nordlicht Prints' },
  ...['creations', 'ledger', 'keys', 'people', 'deliveries', 'requests', 'payments'].map((tab) => ({
    name: `operator-account-${tab}`,
    path: `operator/accounts/acc_7Yt2mQ9xZk/${tab}`,
    heading: 'Nordlicht Prints',
  })),
  { name: 'operator-webhooks', path: 'operator/webhooks', heading: 'Failing webhooks' },
  { name: 'operator-providers', path: 'operator/providers', heading: 'Providers' },
  { name: 'operator-keys', path: 'operator/keys', heading: 'Operator keys' },
  { name: 'operator-margin', path: 'operator/margin', heading: 'Margin' },
];
