import type { EvidenceRow } from './rows.ts';

/** Removed from every report as a precaution: ARNs, account ids, keys and addresses. */
const secret = /arn:\S+|\b\d{12}\b|dk_live_\w+|https?:\/\/\S+|\b(?:AKIA|ASIA)\w+/g;

/** The report in Markdown, which can be shown to everybody. */
export function reportOf(rows: readonly EvidenceRow[], at: Date): string {
  const cell = (text: string): string => text.replace(secret, '(left out)').replaceAll('|', '\\|');
  const lines = rows.map((row) => [row.assumption, row.assumed, row.seen, row.verdict].map(cell).join(' | '));
  return [
    `Evidence of Darkroom in AWS, ${at.toISOString().slice(0, 10)}`,
    '',
    '| Assumption | Assumed | Seen | Verdict |',
    '| --- | --- | --- | --- |',
    ...lines.map((line) => `| ${line} |`),
    '',
  ].join('\n');
}
