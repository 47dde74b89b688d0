/** Texts inside prompts and webhook addresses that must never appear in a log or a history. */
export const promptMark = 'a-prompt-nobody-may-log';
export const addressMark = 'token=hush';
