import { GetDomainNameCommand } from '@aws-sdk/client-api-gateway';
import { askForOne, named } from '../ask-aws.ts';
import type { Question } from '../finding.ts';

/** Whether the host name of the API is free in API Gateway. */
export const apiDomain: Question = {
  title: 'API Gateway: the name of apiDomain',
  async ask({ settings, stack, clients: { gateway } }) {
    const name = settings.apiDomain?.name;
    if (name === undefined) return [];
    const found = await askForOne(
      'apigateway:GET on /domainnames',
      () => gateway.send(new GetDomainNameCommand({ domainName: name })),
      named('NotFoundException'),
    );
    const { outputs } = await stack();
    const isOurs = found?.regionalDomainName === outputs.get('ApiDomainTarget');
    const taken = found !== undefined && !isOurs;
    return [
      {
        question: this.title,
        level: taken ? 'stops' : 'ok',
        found: taken
          ? `${name} is there already, and not of this stack`
          : `${name} is free, or of this stack`,
        wanted: 'free',
        ...(taken && {
          fix: `aws apigateway delete-domain-name --domain-name ${name}, or choose another name`,
        }),
      },
    ];
  },
};
