/** No account, the accounts that the operator has marked, or every account. */
export const sandboxSettings = ['off', 'marked', 'on'] as const;
export type SandboxSetting = (typeof sandboxSettings)[number];
