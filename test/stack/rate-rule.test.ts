/** The firewall of docs/capacity.md, which blocks an address that sends too many requests. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import { afterAll, describe, expect, it } from 'vitest';
import { parseSettings } from '../../lib/settings.ts';
import { defaultLimits } from '../../service/contract/limits.ts';
import { readPage } from '../docs/pages.ts';

interface Rule {
  readonly Statement: {
    readonly RateBasedStatement: { readonly Limit: number; readonly EvaluationWindowSec: number };
  };
}

const folder = mkdtempSync(join(tmpdir(), 'darkroom-firewall-'));
const templateFile = join(folder, 'firewall.json');
const text = readPage('docs/capacity.md').blocks.find(({ example }) => example === 'rate-rule')?.text ?? '';
writeFileSync(templateFile, text);
afterAll(() => rmSync(folder, { recursive: true }));

/** The program is no dependency: docs/contributing.md installs it. */
const hasLinter = spawnSync('cfn-lint', ['--version']).status === 0;

describe('The firewall of docs/capacity.md', () => {
  it('is a template that the CDK takes as it stands', () => {
    const stack = new Stack(new App(), 'Firewall');
    new CfnInclude(stack, 'Include', { templateFile });
    expect(Template.fromStack(stack).toJSON()).toMatchObject(JSON.parse(text) as object);
  });

  it.runIf(hasLinter)('has no finding of cfn-lint', { timeout: 60_000 }, () => {
    const { status, stdout } = spawnSync('cfn-lint', ['--', templateFile], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });

  it('blocks a stranger long before a throttle is used up, and no account within its rates', () => {
    const { Rules } = (
      JSON.parse(text) as { Resources: { Firewall: { Properties: { Rules: readonly Rule[] } } } }
    ).Resources.Firewall.Properties;
    const { Limit = 0, EvaluationWindowSec = 1 } = Rules[0]?.Statement.RateBasedStatement ?? {};
    expect(Limit / EvaluationWindowSec).toBeLessThan(parseSettings('none', {}).throttling.ratePerSecond / 2);
    expect((Limit * 60) / EvaluationWindowSec).toBeGreaterThan(
      2 * (defaultLimits.postRate + defaultLimits.getRate),
    );
  });
});
