/** The same facts on three engines. Because the engines agree, a test on one of them proves something. */
import { findDynamoDbLocal } from './dynamodb-local.ts';
import { startAmazon, startMemory, startStandIn } from './engines.ts';
import { describeStores } from './store-suite.ts';

describeStores('the stand-in', startStandIn);
describeStores('the simulation’s table', startMemory);

const found = findDynamoDbLocal();
// Printed, because a reader could take a skipped fact for a proven one.
if ('missing' in found) process.stderr.write(`Amazon DynamoDB Local is left out: ${found.missing}\n`);
describeStores('Amazon DynamoDB Local', startAmazon, 'missing' in found ? found.missing : undefined);
