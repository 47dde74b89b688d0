/** The same facts on three engines: that they agree is what makes a test on one of them worth something. */
import { findDynamoDbLocal } from './dynamodb-local.ts';
import { startAmazon, startMemory, startStandIn } from './engines.ts';
import { describeStores } from './store-suite.ts';

describeStores('the stand-in', startStandIn);
describeStores('the simulation’s table', startMemory);

const found = findDynamoDbLocal();
// Said aloud, since a skipped fact is easily taken for one that holds.
if ('missing' in found) process.stderr.write(`Amazon DynamoDB Local is left out: ${found.missing}\n`);
describeStores('Amazon DynamoDB Local', startAmazon, 'missing' in found ? found.missing : undefined);
