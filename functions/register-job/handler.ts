import { createRegisterJobHandler } from '../../shared/composition/aws/register-job-handler.ts';

export const handler = createRegisterJobHandler();
