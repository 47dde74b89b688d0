/** The pages by their paths, and the groups of the menu. */
import type { ComponentType } from 'preact';
import type { PortalOperationName } from '../../service/contract/operations.ts';
import { Account } from './pages/account.tsx';
import { Audit } from './pages/audit.tsx';
import { Creation } from './pages/creation.tsx';
import { Creations } from './pages/creations.tsx';
import { Deliveries } from './pages/deliveries.tsx';
import { Delivery } from './pages/delivery.tsx';
import { operatorPage } from './operator-pages.tsx';
import { Home } from './pages/home.tsx';
import { Keys } from './pages/keys.tsx';
import { OneKey } from './pages/one-key.tsx';
import { People } from './pages/people.tsx';
import { Playground } from './pages/playground/playground.tsx';
import { Requests } from './pages/requests.tsx';
import { Statement } from './pages/statement.tsx';
import { Usage } from './pages/usage.tsx';
import { Wallet } from './pages/wallet.tsx';
import { Webhooks } from './pages/webhooks.tsx';
import type { IconName } from './ui/basics.tsx';

export interface Route {
  readonly path: string;
  readonly Page: ComponentType<Shown>;
  /** The first read of the page. A person who may not call it does not see the page. */
  readonly needs: PortalOperationName;
  /** Absent: not in the menu. */
  readonly menu?: { readonly group: string; readonly name: string; readonly icon: IconName };
}

const route = (
  path: string,
  Page: Route['Page'],
  needs: PortalOperationName,
  menu?: readonly [group: string, name: string, icon: IconName],
): Route => ({
  path,
  Page,
  needs,
  ...(menu && { menu: { group: menu[0], name: menu[1], icon: menu[2] } }),
});

/** What a page gets from its address. */
interface Shown {
  readonly id: string;
  readonly tab: string;
}

const operator = {
  Service: operatorPage<Shown>(({ Service }) => Service),
  Accounts: operatorPage<Shown>(({ Accounts }) => Accounts),
  OneAccount: operatorPage<Shown>(({ OneAccount }) => OneAccount),
  OperatedCreation: operatorPage<Shown>(({ OperatedCreation }) => OperatedCreation),
  FailingWebhooks: operatorPage<Shown>(({ FailingWebhooks }) => FailingWebhooks),
  Providers: operatorPage<Shown>(({ Providers }) => Providers),
  OperatorKeys: operatorPage<Shown>(({ OperatorKeys }) => OperatorKeys),
  Margin: operatorPage<Shown>(({ Margin }) => Margin),
};

export const routes: readonly Route[] = [
  route('/', Home, 'getHome', ['', 'Home', 'home']),
  route('/playground', Playground, 'createCreation', ['', 'Playground', 'spark']),
  route('/creations', Creations, 'listPortalCreations', ['', 'Creations', 'image']),
  route('/creations/:id', Creation, 'getPortalCreation'),
  route('/keys', Keys, 'listKeys', ['Developers', 'Keys', 'key']),
  route('/keys/:id', OneKey, 'showKey'),
  route('/requests', Requests, 'listPortalRequests', ['Developers', 'Requests', 'list']),
  route('/webhooks', Webhooks, 'getWebhooks', ['Developers', 'Webhooks', 'hook']),
  route('/deliveries', Deliveries, 'listDeliveries', ['Developers', 'Deliveries', 'send']),
  route('/deliveries/:id', Delivery, 'getDelivery'),
  route('/wallet', Wallet, 'listLedger', ['Money', 'Wallet', 'wallet']),
  route('/statement', Statement, 'getStatement', ['Money', 'Statement', 'list']),
  route('/usage', Usage, 'getUsage', ['Money', 'Usage', 'bars']),
  route('/people', People, 'listPeople', ['Account', 'People', 'people']),
  route('/audit', Audit, 'listActions', ['Account', 'Audit', 'list']),
  route('/account', Account, 'getAccount', ['Account', 'Account', 'gear']),
  route('/operator', operator.Service, 'getService', ['Operator', 'Service', 'home']),
  route('/operator/accounts', operator.Accounts, 'listAccounts', ['Operator', 'Accounts', 'building']),
  route('/operator/accounts/:id', operator.OneAccount, 'showAccount'),
  route('/operator/accounts/:id/:tab', operator.OneAccount, 'showAccount'),
  route('/operator/creations/:id', operator.OperatedCreation, 'showOperatedCreation'),
  route('/operator/webhooks', operator.FailingWebhooks, 'listFailingWebhooks', [
    'Operator',
    'Failing webhooks',
    'hook',
  ]),
  route('/operator/providers', operator.Providers, 'listProviders', ['Operator', 'Providers', 'pulse']),
  route('/operator/keys', operator.OperatorKeys, 'listOperatorKeys', ['Operator', 'Operator keys', 'key']),
  route('/operator/margin', operator.Margin, 'getMargin', ['Operator', 'Margin', 'bars']),
];
