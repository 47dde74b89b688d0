/** The alarms that only settings add, as CloudFormation gets them. */
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { makeAlarm } from '../../lib/alarms.ts';
import { ServiceMetrics } from '../../lib/service-metrics.ts';
import { parseSettings, type SettingsInput } from '../../lib/settings.ts';
import { trafficAlarms } from '../../lib/customer-alarms.ts';
import type { AlarmProperties } from './alarm-words.ts';

type Named = AlarmProperties & { readonly name: string };

/** The alarms of a stack that holds nothing else. */
export function alarmsOf(settings: Pick<SettingsInput, 'alarms' | 'canary'>): readonly Named[] {
  const stack = new Stack(new App(), 'Darkroom');
  const metrics = new ServiceMetrics('Darkroom');
  const { alarms, canary } = parseSettings('test', settings);
  for (const [name, definition] of Object.entries(trafficAlarms({ metrics, alarms, canary })))
    makeAlarm(stack, name, definition);
  const found = Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm') as Readonly<
    Record<string, { readonly Properties: AlarmProperties }>
  >;
  return Object.values(found).map(({ Properties }) => ({
    ...Properties,
    name: Properties.AlarmName.replace('Darkroom-', ''),
  }));
}

/** The canary runs every five minutes, and customers order something at least twice an hour. */
export const optionalAlarms = alarmsOf({
  alarms: { trafficGone: { minutes: 30 } },
  canary: { everyMinutes: 5 },
});
