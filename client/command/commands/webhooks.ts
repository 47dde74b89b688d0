import { buffer } from 'node:stream/consumers';
import { verifyWebhookAt } from '../../src/webhooks/verify.ts';
import { CommandError } from '../complaint.ts';
import { collected, wholeNumber } from '../options.ts';
import type { SessionCommand } from '../session.ts';

interface VerifyOptions {
  readonly secret?: readonly string[];
  readonly header?: readonly string[];
  readonly tolerance: number;
}

export function addWebhookCommands(program: SessionCommand): void {
  const webhooks = program.task('webhooks', 'verify webhooks');
  webhooks
    .task('verify', 'verify a webhook on standard input: its body, or a whole request with its headers')
    .option('-H, --header <line>', 'a header, such as "X-Timestamp: 1795273427"; may be repeated', collected)
    .option('--secret <secret>', 'instead of DARKROOM_WEBHOOK_SECRET; may be repeated', collected)
    .option('--tolerance <seconds>', 'how far the time may lie from now', wholeNumber(0, 10 ** 9), 300)
    .run(async ({ io, output }, { secret, header, tolerance }: VerifyOptions) => {
      const secrets = secret ?? [io.env['DARKROOM_WEBHOOK_SECRET'] ?? ''];
      const received = await buffer(io.input);
      const { headers, body } = header ? { headers: fieldsOf(header), body: received } : partsOf(received);
      const event = await verifyWebhookAt({ headers, body }, secrets, {
        toleranceSeconds: tolerance,
        nowMillis: io.now(),
      });
      output.show({ valid: true, event: 'notice' in event ? event.notice : event.event, id: event.id });
    });
}

/** A request as it was captured: lines of headers, an empty line, and the body. */
function partsOf(request: Buffer): { headers: Record<string, string>; body: Buffer } {
  const [crlf, lf] = [request.indexOf('\r\n\r\n'), request.indexOf('\n\n')];
  const isCrlf = crlf !== -1 && (lf === -1 || crlf < lf);
  const end = isCrlf ? crlf : lf;
  if (end === -1) {
    throw new CommandError(
      'usage',
      'The headers are missing.',
      'Give each with -H, or pipe in the whole request: headers, an empty line, and the body.',
    );
  }
  const lines = request.subarray(0, end).toString('latin1').split(/\r?\n/);
  const fields = lines.filter((line, index) => index > 0 || !/ HTTP\/\d/.test(line));
  return { headers: fieldsOf(fields), body: request.subarray(end + (isCrlf ? 4 : 2)) };
}

function fieldsOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      if (at > 0) return [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()];
      throw new CommandError(
        'usage',
        `${JSON.stringify(line)} is not a header.`,
        'Its form is "Name: value".',
      );
    }),
  );
}
