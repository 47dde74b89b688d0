/** The pages by their paths, and the groups of the menu. */
import type { ComponentType } from 'preact';
import type { PortalOperationName } from '../../service/contract/operations.ts';
import { Account } from './pages/account.tsx';
import { Audit } from './pages/audit.tsx';
import { Creation } from './pages/creation.tsx';
import { Creations } from './pages/creations.tsx';
import { Deliveries } from './pages/deliveries.tsx';
import { Delivery } from './pages/delivery.tsx';
import { Home } from './pages/home.tsx';
import { Keys } from './pages/keys.tsx';
import { Accounts } from './pages/operator/accounts.tsx';
import { Margin } from './pages/operator/margin.tsx';
import { OneAccount } from './pages/operator/one-account.tsx';
import { FailingWebhooks, Providers } from './pages/operator/service.tsx';
import { People } from './pages/people.tsx';
import { Playground } from './pages/playground.tsx';
import { Usage } from './pages/usage.tsx';
import { Wallet } from './pages/wallet.tsx';
import { Webhooks } from './pages/webhooks.tsx';
import type { IconName } from './ui/basics.tsx';

export interface Route {
  readonly path: string;
  readonly Page: ComponentType<{ readonly id: string }>;
  /** What the page reads first: who may not call it does not see the page. */
  readonly needs: PortalOperationName;
  /** Absent: not in the menu. */
  readonly menu?: { readonly group: string; readonly name: string; readonly icon: IconName };
}

export const routes: readonly Route[] = [
  { path: '/', Page: Home, needs: 'getHome', menu: { group: '', name: 'Home', icon: 'home' } },
  {
    path: '/playground',
    Page: Playground,
    needs: 'createCreation',
    menu: { group: '', name: 'Playground', icon: 'spark' },
  },
  {
    path: '/creations',
    Page: Creations,
    needs: 'listPortalCreations',
    menu: { group: '', name: 'Creations', icon: 'image' },
  },
  { path: '/creations/:id', Page: Creation, needs: 'getPortalCreation' },
  { path: '/keys', Page: Keys, needs: 'listKeys', menu: { group: 'Developers', name: 'Keys', icon: 'key' } },
  {
    path: '/webhooks',
    Page: Webhooks,
    needs: 'getWebhooks',
    menu: { group: 'Developers', name: 'Webhooks', icon: 'hook' },
  },
  {
    path: '/deliveries',
    Page: Deliveries,
    needs: 'listDeliveries',
    menu: { group: 'Developers', name: 'Deliveries', icon: 'send' },
  },
  { path: '/deliveries/:id', Page: Delivery, needs: 'getDelivery' },
  {
    path: '/wallet',
    Page: Wallet,
    needs: 'listLedger',
    menu: { group: 'Money', name: 'Wallet', icon: 'wallet' },
  },
  { path: '/usage', Page: Usage, needs: 'getUsage', menu: { group: 'Money', name: 'Usage', icon: 'bars' } },
  {
    path: '/people',
    Page: People,
    needs: 'listPeople',
    menu: { group: 'Account', name: 'People', icon: 'people' },
  },
  {
    path: '/audit',
    Page: Audit,
    needs: 'listActions',
    menu: { group: 'Account', name: 'Audit', icon: 'list' },
  },
  {
    path: '/account',
    Page: Account,
    needs: 'getAccount',
    menu: { group: 'Account', name: 'Account', icon: 'gear' },
  },
  {
    path: '/operator/accounts',
    Page: Accounts,
    needs: 'listAccounts',
    menu: { group: 'Operator', name: 'Accounts', icon: 'building' },
  },
  { path: '/operator/accounts/:id', Page: OneAccount, needs: 'showAccount' },
  {
    path: '/operator/webhooks',
    Page: FailingWebhooks,
    needs: 'listFailingWebhooks',
    menu: { group: 'Operator', name: 'Failing webhooks', icon: 'hook' },
  },
  {
    path: '/operator/providers',
    Page: Providers,
    needs: 'listProviders',
    menu: { group: 'Operator', name: 'Providers', icon: 'pulse' },
  },
  {
    path: '/operator/margin',
    Page: Margin,
    needs: 'getMargin',
    menu: { group: 'Operator', name: 'Margin', icon: 'bars' },
  },
];
