/** The pages of the operator: a separate file, which only browsers of operators load. */
export { Accounts } from './accounts.tsx';
export { OperatedCreation } from './creation.tsx';
export { OperatorKeys } from './keys.tsx';
export { Margin } from './margin.tsx';
export { OneAccount } from './one-account.tsx';
export { Providers } from './providers.tsx';
export { Search } from './search.tsx';
export { Service } from './service.tsx';
export { FailingWebhooks } from './webhooks.tsx';
