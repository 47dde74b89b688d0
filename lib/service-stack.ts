import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Service, type ServiceProps } from './service.ts';

/** The whole service as one flat stack. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { settings, pages, ...props }: ServiceProps & StackProps) {
    super(scope, id, { description: 'Darkroom: an asynchronous image-generation API', ...props });
    new Service(this, { settings, pages });
  }
}
