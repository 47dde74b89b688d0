/**
 * In the bundles, @aws-sdk/credential-provider-node. Lambda puts the credentials of the role into the environment,
 * which the SDK's own provider reads first.
 */
export function defaultProvider(): () => Promise<object> {
  return () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined)
      return Promise.reject(new Error('the environment has no credentials'));
    return Promise.resolve({
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN !== undefined && { sessionToken: AWS_SESSION_TOKEN }),
    });
  };
}
