/** Calls to addresses that clients give. */
import { createOutbound } from '../../adapters/safe-fetch.ts';
import { systemClock } from '../../adapters/system-clock.ts';
import type { OutboundRules } from '../../core/client-url.ts';
import type { Outbound } from '../../core/ports/outbound.ts';
import { environment } from './environment.ts';

/** Which addresses of clients this deployment allows. */
export function outboundRules(): OutboundRules {
  return environment('OUTBOUND_RULES') === 'loopback-too' ? 'loopback-too' : 'public';
}

export function outbound(): Outbound {
  return createOutbound(outboundRules(), { clock: systemClock });
}
