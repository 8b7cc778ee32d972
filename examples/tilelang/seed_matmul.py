import tilelang
import tilelang.language as T
# 这个装饰器告诉TileLang编译此函数
@tilelang.jit
def my_first_kernel(M, N):
    # 这个装饰器将内部函数标记为实际内核逻辑
    @T.prim_func
    def kernel_logic(
        A: T.Tensor((M, N), "float32"), # 输入张量A
        B: T.Tensor((M, N), "float32"), # 输入张量B
        C: T.Tensor((M, N), "float32"), # 输出张量C
    ):
        # ... 内核计算代码放在这里 ...
        pass # 稍后填充!
    return kernel_logic
# 使用方式:
# compiled_kernel = my_first_kernel(1024, 1024)

import tilelang
import tilelang.language as T
import torch # 用于后续测试
# 1. 用@tilelang.jit定义内核函数
@tilelang.jit
def matmul_kernel_builder(M, N, K, block_M, block_N, block_K, dtype="float16", accum_dtype="float"):
    # 2. 用@T.prim_func定义实际内核逻辑
    @T.prim_func
    def matmul_logic(
        A: T.Tensor((M, K), dtype), # 输入矩阵A
        B: T.Tensor((K, N), dtype), # 输入矩阵B
        C: T.Tensor((M, N), dtype), # 输出矩阵C
    ):
        # 3. 初始化内核上下文:定义网格和每块线程数
        # 使用每块128线程,通过N/block_N和M/block_M确定块数
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            # 4. 分配快速本地内存(共享和片段)
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            # 5. 清空本地累加缓冲区
            T.clear(C_local)
            # 循环'K'维度(矩阵乘法的内维度)
            # 'ko'代表'K外部'块索引
            for ko in T.ceildiv(K, block_K):
                # 6. 将块从全局内存复制到共享内存
                # 每个块复制它需要的A和B块
                T.copy(A[by * block_M, ko * block_K], A_shared)
                T.copy(B[ko * block_K, bx * block_N], B_shared)
                # 7. 执行实际的块级矩阵乘法
                T.gemm(A_shared, B_shared, C_local)
            # 8. 将最终结果从本地片段复制到全局内存C
            # 使用T.Parallel在线程间分配复制任务
            for i, j in T.Parallel(block_M, block_N):
                C[by * block_M + i, bx * block_N + j] = C_local[i, j]
    return matmul_logic
# --- 使用示例 ---
# 定义矩阵维度和块大小
M, N, K = 1024, 1024, 1024
block_M, block_N, block_K = 128, 128, 32
# 1. 获取编译后的内核
my_matmul_kernel = matmul_kernel_builder(M, N, K, block_M, block_N, block_K)
# 2. 用PyTorch准备输入张量(GPU数据)
a_torch = torch.randn(M, K, device="cuda", dtype=torch.float16)
b_torch = torch.randn(K, N, device="cuda", dtype=torch.float16)
c_torch = torch.empty(M, N, device="cuda", dtype=torch.float16) # 输出张量
# 3. 运行TileLang内核
my_matmul_kernel(a_torch, b_torch, c_torch)
print("TileLang内核输出(前5x5块):")
print(c_torch[:5,:5])
# 4. 与PyTorch参考对比验证正确性
ref_c_torch = a_torch @ b_torch # PyTorch原生矩阵乘法
torch.testing.assert_close(c_torch, ref_c_torch, rtol=1e-2, atol=1e-2)
print("\nTileLang内核输出与PyTorch参考匹配!")
# `c_torch[:5,:5]`输出将是5x5的float16计算结果张量
# 如果结果数值相近,`assert_close`将通过
